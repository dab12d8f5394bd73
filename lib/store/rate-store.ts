/** How often somebody does something, over all processes on the store. */
export interface RateStore {
  /**
   * Takes one of `perMinute`, as many of them at once as in a minute; they come back evenly. Answers with how many ms to
   * wait, 0 where one was taken. `now` in ms since the epoch; a clock that was set back brings nothing back.
   */
  take(who: string, what: string, perMinute: number, now: number): Promise<number>
  /** Takes so many more than were asked for, though they be not there: they are missed next time. */
  owe(who: string, what: string, count: number): Promise<void>
}
