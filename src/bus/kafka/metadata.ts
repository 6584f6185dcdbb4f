/**
 * Reads the metadata of topics and brokers. kafkajs sends this request twice; when the second request fails, kafkajs
 * does not report the cause, but throws a TypeError about the missing answer.
 */
import type { Admin } from 'kafkajs'
import { Unanswered } from './errors.ts'

const explained = (error: unknown): never => {
  throw error instanceof TypeError ? new Unanswered('no broker said which topics and brokers there are') : error
}

export const topicsOf = (admin: Admin, topics: readonly string[]): ReturnType<Admin['fetchTopicMetadata']> =>
  admin.fetchTopicMetadata({ topics: [...topics] }).catch(explained)

export const clusterOf = (admin: Admin): ReturnType<Admin['describeCluster']> =>
  admin.describeCluster().catch(explained)
