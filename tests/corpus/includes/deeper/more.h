#define FACTOR 12
