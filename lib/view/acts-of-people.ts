/** Facts in which a person says what is to be done with a run. A program with an API token acts for a person, and counts as one. */
export const actsOfPeople = [
  'approval_decided',
  'approval_commented',
  'event_given',
  'run_paused',
  'run_resumed',
  'cancel_asked',
  'rollback_request',
  'rollback_choice',
] as const
