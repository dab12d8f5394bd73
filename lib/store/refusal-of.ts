import { isProblem, type Problem, type ProblemCode } from '@/lib/base/problem'

/** The Problem that a promise is refused with. */
export async function refusal(work: Promise<unknown>, code: ProblemCode): Promise<Problem> {
  try {
    await work
  } catch (error) {
    if (isProblem(error, code)) return error
    throw error
  }
  throw new Error(`Expected the refusal ${code}; it went through`)
}
