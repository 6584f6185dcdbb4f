/** Who has a device open through VFIO, as far as this host shows it. */
import type { HostIo } from '../driver.ts'
import { listed } from '../files.ts'

/** The files below /dev through which VFIO gives the device away. */
const filesOf = async (io: Pick<HostIo, 'list' | 'link'>, device: string): Promise<ReadonlySet<string>> => {
  const group = (await io.link(`${device}/iommu_group`))?.split('/').at(-1)
  const own = (await listed(io, `${device}/vfio-dev`)).map((name) => `/dev/vfio/devices/${name}`)
  return new Set([...(group === undefined ? [] : [`/dev/vfio/${group}`, `/dev/vfio/noiommu-${group}`]), ...own])
}

const openedBy = async (io: Pick<HostIo, 'list' | 'link'>, pid: string): Promise<readonly (string | null)[]> => {
  const folder = `/proc/${pid}/fd`
  // a process may end meanwhile
  const open = await io.list(folder).catch(() => [])
  return Promise.all(open.map((fd) => io.link(`${folder}/${fd}`).catch(() => null)))
}

/** In words; null: nobody, or nobody whom this program may see. `device`: its folder below /sys. */
export const vfioHolder = async (io: Pick<HostIo, 'list' | 'link'>, device: string): Promise<string | null> => {
  const files = await filesOf(io, device)
  if (files.size === 0) return null
  for (const pid of (await listed(io, '/proc')).filter((name) => /^\d+$/.test(name))) {
    const file = (await openedBy(io, pid)).find((one) => one !== null && files.has(one))
    if (file) return `process ${pid} has opened ${file}`
  }
  return null
}
