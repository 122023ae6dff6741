#ifndef DEFINITIONS_H
#define DEFINITIONS_H
#include "definitions.h"
#include "deeper/more.h"
use StdIO: all;
use Array: all;

int helper(int x)
{
  return FACTOR * x;
}
#endif
