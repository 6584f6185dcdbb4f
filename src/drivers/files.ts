/** Helpers for the files that a driver keeps, using only the file access of its host interface. */
import * as v from 'valibot'
import { codeOf } from '../vocabulary/errorText.ts'
import { isRecord } from '../vocabulary/record.ts'
import type { HostIo } from './driver.ts'

/** The text of a file, or null when there is no such file; any other failure throws. */
export const readIfThere = async (io: Pick<HostIo, 'read'>, path: string): Promise<string | null> => {
  try {
    return await io.read(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** The names in a folder, or null when there is no such folder; any other failure throws. */
export const listIfThere = async (io: Pick<HostIo, 'list'>, folder: string): Promise<readonly string[] | null> => {
  try {
    return await io.list(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    throw error
  }
}
/** The names in a folder; none when there is no such folder. */
export const listed = async (io: Pick<HostIo, 'list'>, folder: string): Promise<readonly string[]> =>
  (await listIfThere(io, folder)) ?? []

/**
 * The decoded JSON of a file, or null when there is no such file. Text that is not a JSON object throws an error that
 * names the file.
 */
export const readJsonObject = async (
  io: Pick<HostIo, 'read'>,
  path: string,
): Promise<Readonly<Record<string, unknown>> | null> => {
  const text = await readIfThere(io, path)
  return text === null ? null : jsonObject(text, path)
}

/** Decodes a JSON object; `where` names the text in the error. */
const jsonObject = (text: string, where: string): Readonly<Record<string, unknown>> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  if (!isRecord(value)) throw new Error(`${where}: must hold a JSON object`)
  return value
}

/** Parses the text of a file with a schema. Throws an error that names the text, the field and its rule. */
export const readByRules = <Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
  where: string,
): v.InferOutput<Schema> => {
  const { success, output, issues } = v.safeParse(schema, jsonObject(text, where), { abortEarly: true })
  if (success) return output
  const [issue] = issues
  throw new Error(`${where}: ${v.getDotPath(issue)}: ${issue.message}`)
}

/** Runs tasks one after the other. A failed task does not stop the next. */
export const oneAtATime = (): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** Runs at most so many tasks at a time; the others wait for their turn. */
export const atMost = (most: number): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
