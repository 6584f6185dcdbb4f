/**
 * Warns about attach handles that Nova would not attach to a server: Nova attaches the handles of a server only if all
 * of them are of type PCI, and otherwise ignores all of them (drivers.md 4.3). Pure.
 */
import type { HandleType } from '../../vocabulary/hardware.ts'
import type { Warning } from './answer.ts'

const ATTACHED: HandleType = 'PCI'
const INSTEAD = 'ask for whole functions, whose attach handles are of type PCI'
const ALONE = 'ask for it in a device profile of its own, or for whole functions, whose attach handles are of type PCI'

/** `types`: for each group, the types of the attach handles of the devices that satisfy it. */
export const attachingWarnings = (types: readonly ReadonlySet<HandleType>[]): readonly Warning[] => {
  const numbers = types.map((_, group) => group)
  const harmed = (but: number) => numbers.filter((group) => group !== but && types[group]!.has(ATTACHED))
  return numbers.flatMap((group): readonly Warning[] => {
    const others = [...types[group]!].filter((type) => type !== ATTACHED).toSorted()
    if (others.length === 0) return []
    const also = harmed(group)
    const reason = `group ${group} is given attach handles of type ${others.join(', ')}, which Nova does not attach: a server starts without them`
    return also.length === 0
      ? [{ code: 'not_attached', group, reason, change: INSTEAD }]
      : [
          {
            code: 'not_attached',
            group,
            reason: `${reason}, and without those of group ${also.join(', ')}`,
            change: ALONE,
          },
        ]
  })
}
