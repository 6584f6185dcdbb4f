/** Cases beside a real Nova: they share one cloud and one service, which must be clean at the end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { allFree } from './boots.ts'
import type { Drift } from './providers.ts'
import { NOVA, type NovaCloud, RIG_MS, startNova } from './rig.ts'
import { type NovaService, openService } from './service.ts'

type Cases = (service: () => NovaService) => void

export const novaSuite = (...cases: readonly Cases[]): void =>
  describeWith('postgres', 'the service', (postgres) =>
    describeWith('kafka', 'on several processes', (kafka) =>
      describeWith(NOVA, 'beside a real Nova', (rig) => {
        let cloud: NovaCloud
        let service: NovaService
        beforeAll(async () => {
          cloud = await startNova(rig)
          service = await openService(cloud, { postgres, kafka })
        }, RIG_MS)
        afterAll(async () => {
          await service?.close()
          await cloud?.stop()
        }, 120_000)

        // each in a block of its own, so that what one prepares and tidies up is not that of another
        for (const declare of cases) describe(declare.name, () => declare(() => service))

        test('at the end no handle is held, the audit is clean, and Placement agrees', async () => {
          await allFree(service)
          const { code, said } = await service.audited()
          expect(code, said).toBe(0)
          for (const { entries } of await service.users.listed<Drift>('drift')) expect(entries).toEqual([])
        })
      }),
    ),
  )
