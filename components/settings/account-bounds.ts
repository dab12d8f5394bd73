/** What the server holds people to; forms say so before it does. */
export interface AccountBounds {
  minPasswordLength: number
  maxTokenDays: number
  scopes: string[]
}
