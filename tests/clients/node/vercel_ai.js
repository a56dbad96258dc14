// Vercel's AI SDK: @ai-sdk/openai (the Responses API, its default) and @ai-sdk/openai-compatible (chat completions).
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { BASE_URL, COUNT, FACT, HELLO, KEY, MODEL, PIXEL, QUESTION, report, run, waitLearned, weather } from './checks.js'

const Town = z.object({ name: z.string(), people: z.number().int() })
const tools = {
  weather: tool({ description: 'The weather', inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => weather(city) }),
}

async function by(model, prefix) {
  const say = async (prompt) => (await generateText({ model, prompt })).text
  await run(`${prefix}text`, () => say(FACT), 'You said')
  await run(`${prefix}stream`, async () => {
    let text = ''
    for await (const piece of streamText({ model, prompt: HELLO, onError: ({ error }) => { throw error } }).textStream) text += piece
    return text
  }, HELLO)
  await run(`${prefix}tools`, async () =>
    (await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'How is the weather in Paris?' })).text, 'Paris is sunny')
  await run(`${prefix}structured`, async () =>
    JSON.stringify((await generateObject({ model, schema: Town, prompt: COUNT })).object), '{"name":"Paris","people":42}')
  const picture = { type: 'image', image: Buffer.from(PIXEL, 'base64'), mediaType: 'image/png' }
  await run(`${prefix}image`, async () =>
    (await generateText({ model, messages: [{ role: 'user', content: [{ type: 'text', text: HELLO }, picture] }] })).text, '1 image(s)')
  await waitLearned()
  await run(`${prefix}memory`, () => say(QUESTION), 'Shram')
}

const compatible = createOpenAICompatible({ name: 'throughline', baseURL: BASE_URL, apiKey: KEY, supportsStructuredOutputs: true })
await by(compatible(MODEL), '')
await by(createOpenAI({ baseURL: BASE_URL, apiKey: KEY })(MODEL), 'responses ')
report('ai')
