import { createRequire } from 'node:module';

/** The example of an operation in the API description: a recorded request, its response, and the schemas of its responses. */
interface Example {
  parameters?: Record<string, string>;
  request?: unknown;
  response?: unknown;
  /** Of `data` and `auth` in the envelope; `document` of a response without it. */
  schemas?: Record<string, object>;
}

/** By verb and path. tests/openapi/examples.test.ts records and checks them. */
const examples = createRequire(import.meta.url)('./examples.json') as Readonly<Record<string, Example>>;

type Operation = Record<string, unknown>;

/** Adds the examples and the schemas of responses to the operations of a path. */
export const withExamples = (
  path: string,
  operations: Record<string, Operation>,
): Record<string, Operation> =>
  Object.fromEntries(
    Object.entries(operations).map(([verb, operation]) => {
      const example = examples[`${verb.toUpperCase()} ${path}`];
      return [verb, example === undefined ? operation : described(operation, example)];
    }),
  );

function described(operation: Operation, example: Example): Operation {
  const { parameters, requestBody, responses } = operation as {
    parameters?: { name: string }[];
    requestBody?: { content: Record<string, object> };
    responses?: Record<string, object>;
  };
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((one) => withExample(one, example.parameters?.[one.name])),
    }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: contentWith(requestBody.content, example.request) },
    }),
    responses: { ...responses, ...successesOf(example, responses) },
  };
}

const withExample = (described: object, example: unknown): object =>
  example === undefined ? described : { ...described, example };

const contentWith = (content: Record<string, object>, example: unknown) =>
  Object.fromEntries(
    Object.entries(content).map(([type, described]) => [type, withExample(described, example)]),
  );

/** A response with 202, which is not complete yet, has the same schema. */
function successesOf({ response, schemas = {} }: Example, responses: object = {}) {
  if (response === undefined) return {};
  const { document, ...properties } = schemas;
  const schema = document ?? { allOf: [{ $ref: '#/components/schemas/Envelope' }, { properties }] };
  const notYet = { description: 'not yet', content: { 'application/json': { schema } } };
  return {
    '200': { description: 'success', content: { 'application/json': withExample({ schema }, response) } },
    ...('202' in responses && { '202': notYet }),
  };
}
