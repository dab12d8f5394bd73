/** How far a rollback reaches: one step, the step and all that followed it, or the whole run (cascade section 6.4, NOTES 3.7). */
export type RollbackScope = 'single' | 'sub_dag' | 'full_workflow'
/** ATD section 7, `atd.status`. */
export type RollbackStatus = 'completed' | 'partial' | 'escalated' | 'failed'
