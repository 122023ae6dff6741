/* Nothing: what a process takes by itself. */
int main(void) { return 0; }
