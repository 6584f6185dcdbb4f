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
    ordered,
  }: Pick<PassTools, 'placement' | 'clock' | 'ofOthers' | 'isUnchanged' | 'agreed' | 'ordered'>,
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
        // what is taken over is found again when it is deleted
        const before = findings.findIndex(({ uuid }) => uuid === finding.uuid)
        if (before < 0) findings.push(finding)
        else findings[before] = { ...finding, did: [...findings[before]!.did, ...finding.did] }
        return true
      },
      rooted: async ({ uuid }) => ((root = uuid), true),
      isUnchanged,
      agreed,
      ordered,
    },
    task,
  )
  return { findings, root, trouble: typeof passed === 'string' ? null : passed }
}
