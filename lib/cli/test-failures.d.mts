/** One failure: the test's place and name, and its message. */
export interface Failure {
  where: string
  message?: string
}

export function failuresOfVitest(report: { testResults: object[] }): Failure[]
export function failuresOfPlaywright(report: { suites?: object[]; errors?: object[] }): Failure[]
export function failureLines(failures: readonly Failure[]): string[]
