/** The support bundles of a running program; what makes them is loaded when somebody asks for the first. */
import type { Bundles } from '../programs/systemPort.ts'

export const bundles: Bundles = (surroundings) => {
  let made: Promise<ReturnType<Bundles>> | null = null
  return async (identity) => {
    made ??= import('./bundleHere.ts').then(({ bundlesOf }) => bundlesOf(surroundings))
    return (await made)(identity)
  }
}
