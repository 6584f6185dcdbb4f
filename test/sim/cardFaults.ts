/** Faults of the cards of a machine. */
import { type Fault, later } from './stage.ts'

/** The driver of one machine does not get through its discovery for a while. */
export const cardsUnseen: Fault = (stage) => {
  const { machines, random, say } = stage
  const [machine, how, ms] = [
    random.pick(machines),
    random.pick(['fails', 'hangs'] as const),
    random.between(1000, 120_000),
  ]
  machine.blind(how)
  machine.report()
  say(`fault: the discovery of ${machine.name} ${how} for ${ms} ms`)
  later(stage, ms, () => {
    machine.blind(null)
    machine.report()
  })
}
