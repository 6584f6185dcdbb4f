/** How long a fact takes from the journal's own time to a reader of its topic. */
import { setTimeout as sleep } from 'node:timers/promises'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { type Spread, spread } from '../figures.ts'
import type { Target } from '../tasks.ts'
import { type Scene, type Steady, measureSteady } from './measure.ts'

export type Lag = { readonly steady: Steady; readonly facts: number; readonly ms: Spread }
const LAST_MS = 1500

/** All programs share one machine's clock. */
export const measureLag = async (
  scene: Scene,
  targets: readonly Target[],
  perSecond: number,
  seconds: number,
): Promise<Lag> => {
  const bus = kafkaBus({ options: { ...scene.stand.kafka, clientId: 'bench' }, clock: systemClock, log: silent })
  const lags: number[] = []
  const take = async ({ value }: { readonly value: string }): Promise<void> =>
    void lags.push(Date.now() - Date.parse((JSON.parse(value) as { readonly time: string }).time))
  await bus.consume({ topic: CATALOGUE.arqEvents.topic, group: 'bench', from: 'latest', window: 1000, take })
  lags.length = 0
  const steady = await measureSteady(scene, targets, perSecond, seconds)
  await sleep(LAST_MS)
  await bus.stop()
  return { steady, facts: lags.length, ms: spread(lags) }
}
