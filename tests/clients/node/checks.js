// Checks of each client script, and their output.
import { readFileSync } from 'node:fs'
import path from 'node:path'

export const BASE_URL = process.env.OPENAI_BASE_URL
export const KEY = process.env.OPENAI_API_KEY
export const MODEL = 'gpt-4o-mini'
export const FACT = 'I use Shram and Magnet as productivity tools'
export const QUESTION = 'What are the productivity tools that I use?'
export const HELLO = 'Say hello to everyone in Paris'
export const COUNT = 'There are 42 people in Paris'
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const IMAGE = `data:image/png;base64,${PIXEL}`
export const weather = (city) => `${city} is sunny`

const passed = []
const failed = {}

export async function run(name, check, expected) {
  try {
    const seen = await check()
    if (!String(seen).includes(expected)) throw new Error(`${expected} is not in ${seen}`)
    passed.push(name)
  } catch (error) {
    if (process.env.CLIENTS_TRACE) console.error(error)
    failed[name] = String(error).slice(0, 500)
  }
}

export async function waitLearned() {
  for (let tries = 0; tries < 600; tries++) {
    const response = await fetch(`${BASE_URL}/state`, { headers: { Authorization: `Bearer ${KEY}` } })
    if ((await response.json()).pending_turns === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('not learned')
}

export function report(name) {
  const folder = path.join(path.dirname(new URL(import.meta.url).pathname), 'node_modules', name)
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json')))
  console.log(JSON.stringify({ version, passed, failed }))
}
