/** Rows of an inbox page; 200 is more than anyone decides in a sitting, and further pages follow by cursor. */
export const approvalsPerPage = 200

/** Rows of the run table fetched at a time. */
export const runsPerPage = 100
/** Runs of one step: nearly every step's are all there at once, in the order of its results. */
export const childrenPerPage = 200
