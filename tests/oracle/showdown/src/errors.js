/** What the caller did wrong, in words for the caller: what, where, got, expected. */
export class OracleError extends Error {}

/** What the tracer has not been told of Showdown. */
export class UnknownError extends Error {}
