/**
 * Session settings. Every statement here is meant to follow an index; without statistics (a fresh table, or an embedded
 * server that gathers none by itself) the planner may think a scan of the whole journal cheaper, and keep that plan.
 */
export const PLANNER = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' }
