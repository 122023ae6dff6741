/* CHECK((expression), (wanted)): says which expression is not what it should be. FINISH ends main. */
#define CHECK(found, wanted) if (!match(found, wanted)) { failures += 1; printf("line %d: %s\n", __LINE__, #found); }
#define FINISH printf("%d checks failed\n", failures); return failures;
