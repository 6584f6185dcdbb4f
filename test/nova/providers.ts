/** Creates in Placement what placement.md describes for each deployable: a child of the compute's provider, with its inventory and traits. */
import { attributesOf, type Deployable, type Json } from '../e2e/client.ts'
import type { NovaCloud } from './rig.ts'
import type { Users } from './users.ts'

export const publishProviders = async ({ placement }: NovaCloud, { service, listed }: Users): Promise<void> => {
  const put = (path: string, body?: unknown) => service.ask('PUT', `${placement}${path}`, body)
  const rootOf = async (hostname: string): Promise<string> => {
    const found = await service.get(200, 'GET', `${placement}/resource_providers?name=${hostname}`)
    return (found['resource_providers'] as readonly { readonly uuid: string }[])[0]!.uuid
  }
  for (const place of await listed<Deployable>('deployables')) {
    const { rc, ...rest } = attributesOf(place)
    const traits = [
      ...new Set([
        'OWNER_CYBORG',
        ...Object.entries(rest).flatMap(([key, value]) => (key.startsWith('trait') ? [value] : [])),
      ]),
    ]
    for (const trait of traits.filter((name) => name.startsWith('CUSTOM_'))) await put(`/traits/${trait}`)
    const body = {
      uuid: place.rp_uuid,
      name: place.name,
      parent_provider_uuid: await rootOf(place.name.split('_')[0]!),
    }
    await service.ask('POST', `${placement}/resource_providers`, body)
    const at = `/resource_providers/${place.rp_uuid}`
    const { generation } = (await service.get(200, 'GET', `${placement}${at}`)) as Json & {
      readonly generation: number
    }
    const total = place.num_accelerators
    const record = { total, reserved: 0, min_unit: 1, max_unit: total, step_size: 1, allocation_ratio: 1 }
    const { status, body: answer } = await put(`${at}/inventories`, {
      resource_provider_generation: generation,
      inventories: { [rc!]: record },
    })
    if (status !== 200) throw new Error(`inventory of ${place.name}: ${status} ${JSON.stringify(answer)}`)
    await put(`${at}/traits`, { resource_provider_generation: answer['resource_provider_generation'], traits })
  }
}
