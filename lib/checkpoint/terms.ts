/** How one step is taken back: its snapshot is put back here, by the agent that holds it, or by a compensating action. */
export type UndoMethod = 'restore' | 'remote' | 'compensate'
