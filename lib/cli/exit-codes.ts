/** What was asked for was done, and is good. */
export const EXIT_OK = 0;

/** It was done, and is not good: a case failed, or this host cannot run a job. */
export const EXIT_FAILED = 1;

/** It was not done: a case that cannot be read, or a wrong command line. */
export const EXIT_REFUSED = 2;

/** Nobody reads the output any more: what a shell says of a command that SIGPIPE ended. */
export const EXIT_UNREAD = 141;
