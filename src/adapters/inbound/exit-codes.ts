/** The exit codes of the program. */
export const SUCCEEDED = 0;
export const FAILED = 1;
export const BAD_USAGE = 2;
/** The text has links, and no page could be read. */
export const NOTHING_READ = 3;
/** Ended by Ctrl-C, as a shell reports it. */
export const INTERRUPTED = 130;
