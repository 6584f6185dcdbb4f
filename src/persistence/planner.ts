/**
 * Planner settings of each session. Every statement is meant to use an index; without statistics (a fresh table, or the
 * embedded database, which gathers none by itself) the planner may choose a scan of the whole journal instead, and keep
 * that plan.
 */
export const PLANNER = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' }
