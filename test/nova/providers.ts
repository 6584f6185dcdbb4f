/** Waits until the service has shown its devices in Placement, where Nova's scheduler looks for them. */
import type { Deployable } from '../e2e/client.ts'
import { type Users, until } from './users.ts'

export type Drift = {
  readonly host: string
  /** Null: the host was not compared with Placement yet. */
  readonly checked_at: string | null
  readonly trouble: object | null
  readonly entries: readonly unknown[]
}

/** Resolves when there are so many deployables, and Placement has what it should have of each host. */
export const shownDeployables = async ({ listed }: Users, count: number): Promise<void> => {
  await until(
    () => listed<Deployable>('deployables'),
    (places) => places.length === count,
  )
  await until(
    () => listed<Drift>('drift'),
    (hosts) =>
      hosts.length > 0 &&
      hosts.every((host) => host.checked_at !== null && host.trouble === null && host.entries.length === 0),
  )
}
