/** A pass over a host that writes nothing: returns what a real pass would find and do (placement 9.2). */
import type { Finding, HostBlocker } from '../../actors/placement/decider.ts'
import { unwritten } from './fence.ts'
import { type PassTools, type Task, pass } from './pass.ts'

export type DryPass = {
  readonly findings: readonly Finding[]
  /** The provider of the compute node; null: there is none, or Placement did not say. */
  readonly root: string | null
  /** The reason why not everything was compared; null: everything was. */
  readonly trouble: HostBlocker | null
}

export const dryPass = async (
  {
    placement,
    clock,
    ofOthers,
    isUnchanged,
    agreed,
  }: Pick<PassTools, 'placement' | 'clock' | 'ofOthers' | 'isUnchanged' | 'agreed'>,
  task: Task,
): Promise<DryPass> => {
  const findings: Finding[] = []
  let root: string | null = null
  const passed = await pass(
    {
      placement: unwritten(placement),
      clock,
      ofOthers,
      names: new Set(),
      found: async (given) => {
        // the generation in which the provider would agree is unknown until it is written
        const { agreed: _, ...finding } = given
        findings.push(finding)
        return true
      },
      rooted: async ({ uuid }) => ((root = uuid), true),
      isUnchanged,
      agreed,
    },
    task,
  )
  return { findings, root, trouble: typeof passed === 'string' ? null : passed }
}
