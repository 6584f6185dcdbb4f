/**
 * Metadata of topics and brokers. kafkajs sends the request twice; when the second one fails, it does not report the cause but
 * fails with a TypeError on the missing answer.
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
