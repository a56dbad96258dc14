// The openai SDK for Node: chat completions, and the Responses API.
import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { COUNT, FACT, HELLO, IMAGE, MODEL, QUESTION, report, run, waitLearned, weather } from './checks.js'

const client = new OpenAI()
const Town = z.object({ name: z.string(), people: z.number().int() })
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

const create = (content, more = {}) =>
  client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }], ...more })
const say = async (content) => (await create(content)).choices[0].message.content

await run('text', () => say(FACT), 'You said')
await run('stream', async () => {
  let text = ''
  for await (const chunk of await create(HELLO, { stream: true })) text += chunk.choices[0]?.delta?.content ?? ''
  return text
}, HELLO)
await run('tools', async () => {
  const tool = { type: 'function', function: { name: 'weather', parameters, parse: JSON.parse, function: ({ city }) => weather(city) } }
  const messages = [{ role: 'user', content: 'How is the weather in Paris?' }]
  return client.chat.completions.runTools({ model: MODEL, messages, tools: [tool], stream: true }).finalContent()
}, 'Paris is sunny')
await run('structured', async () => {
  const format = zodResponseFormat(Town, 'town')
  const reply = await client.chat.completions.parse({ model: MODEL, messages: [{ role: 'user', content: COUNT }], response_format: format })
  return JSON.stringify(reply.choices[0].message.parsed)
}, '{"name":"Paris","people":42}')
await run('image', () => say([{ type: 'text', text: HELLO }, { type: 'image_url', image_url: { url: IMAGE } }]), '1 image(s)')
await run('responses', async () => (await client.responses.create({ model: MODEL, input: HELLO })).output_text, HELLO)
await run('responses stream', async () => {
  let text = ''
  for await (const event of await client.responses.create({ model: MODEL, input: HELLO, stream: true }))
    if (event.type === 'response.output_text.delta') text += event.delta
  return text
}, HELLO)
await waitLearned()
await run('memory', () => say(QUESTION), 'Shram')
await run('responses memory', async () => (await client.responses.create({ model: MODEL, input: QUESTION })).output_text, 'Shram')
report('openai')
