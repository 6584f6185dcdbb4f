/**
 * Finds the page for a text: a UUID may be that of a request, an instance, a device or a handle, a word that of a host
 * or a profile.
 */
import * as v from 'valibot'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { type Api, at } from '../api.ts'
import * as shapes from '../shapes.ts'

const Any = v.unknown()

/**
 * Returns the address within the console; null: the API knows nothing of this name, or does not show it to the user.
 */
export const find = async (api: Api, text: string): Promise<string | null> => {
  const name = encodeURIComponent(text)
  const isSomeUuid = canonicalUuid(text) !== null
  const looks: readonly (readonly [path: string, place: string])[] = isSomeUuid
    ? [
        [at`/accelerator_requests/${text}`, `arqs/${name}`],
        [at`/accelerator_requests/${text}/timeline`, `arqs/${name}`],
        [at`/devices/${text}`, `devices/${name}`],
        [at`/handles/${text}`, `handles/${name}`],
        [at`/device_profiles/${text}`, `profiles/${name}`],
      ]
    : [
        [at`/hosts/${text}`, `hosts/${name}`],
        [at`/device_profiles/${text}`, `profiles/${name}`],
      ]
  const found = await Promise.all(looks.map(async ([path, place]) => ((await api.get(path, Any)).ok ? place : null)))
  const place = found.find((each) => each !== null)
  if (place !== undefined || !isSomeUuid) return place ?? null
  const [ofInstance, deployable] = await Promise.all([
    api.get(at`/accelerator_requests?instance=${text}&limit=1`, shapes.Arqs),
    api.get(at`/deployables/${text}`, v.object({ device_uuid: v.optional(v.string()) })),
  ])
  if (ofInstance.ok && ofInstance.value.arqs.length > 0) return `instances/${name}`
  return deployable.ok && deployable.value.device_uuid !== undefined ? `devices/${deployable.value.device_uuid}` : null
}
