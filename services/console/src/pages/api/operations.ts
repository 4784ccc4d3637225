/** The parts of an OpenAPI 3.1 schema that are shown. */
export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  default?: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

interface Content {
  schema?: Schema;
  example?: unknown;
}

/** An operation of the API, as the description has it. */
export interface Operation {
  /** In capitals. */
  method: string;
  /** With the names of parameters in braces, beginning with `/v1/`. */
  path: string;
  summary: string;
  tag: string;
  parameters: Parameter[];
  /** The body of the request; undefined if it has none. */
  body: (Content & { mediaType: string }) | undefined;
  /** What it returns if it succeeds. */
  response: Content | undefined;
}

interface DescribedOperation {
  summary?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, Content> };
  responses?: Record<string, { content?: Record<string, Content> }>;
}

export interface Description {
  info: { version: string };
  paths: Record<string, Record<string, DescribedOperation>>;
}

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/** The operations of the description, in its order. */
export const operationsOf = ({ paths }: Description): Operation[] =>
  Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod)
      .filter(([method]) => methods.includes(method))
      .map(([method, described]) => operationOf(path, method, described)),
  );

function operationOf(path: string, method: string, described: DescribedOperation): Operation {
  const [mediaType, body] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  return {
    method: method.toUpperCase(),
    path,
    summary: described.summary ?? '',
    tag: described.tags?.[0] ?? 'gateway',
    parameters: described.parameters ?? [],
    body: mediaType === undefined ? undefined : { ...body, mediaType },
    response: described.responses?.['200']?.content?.['application/json'],
  };
}

/** The operations that contain each word of the search, in their method, path or summary. */
export function search(operations: readonly Operation[], text: string): Operation[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ method, path, summary }) => {
    const haystack = `${method} ${path} ${summary}`.toLowerCase();
    return words.every((word) => haystack.includes(word));
  });
}

/** A type in a few words, such as `array of string`. */
export function typeOf({ type, items, enum: values, const: only, anyOf }: Schema): string {
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `array of ${items === undefined ? 'anything' : typeOf(items)}`;
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'anything');
}
