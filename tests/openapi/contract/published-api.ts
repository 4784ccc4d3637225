/** The fields of an operation by their names, each with its type, such as `integer` or `string/duration`. */
export interface PublishedOperation {
  request?: Fields;
  query?: Fields;
  response?: Fields;
}
export type Fields = Record<string, string>;

/** The operations of a server that this service has, too, as its documentation publishes them. */
export interface PublishedApi {
  source: string;
  /** By names such as `POST /v1/sys/mounts/{}`. */
  operations: Record<string, PublishedOperation>;
}

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
}
type Content = Record<string, { schema?: Schema }>;
interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Content };
  responses?: Record<string, { content?: Content }>;
}

/** The parts of an OpenAPI document that are compared. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

/** Mounts that correspond to one here. Those of other engines and login methods are excluded. */
const sameMount = /(?<=^\/auth\/)\{azure_mount_path\}|(?<=^\/)\{(?:kv_v2|secret)_mount_path\}/;

/** The name of an operation, which does not depend on the names of its parameters. A list is a GET. */
export const operationName = (verb: string, path: string): string =>
  `${verb.toUpperCase()} /v1${path
    .replace(/^\/v1/, '')
    .replace(sameMount, '{mount}')
    .replace(/\/$/, '')
    .replaceAll(/\{\w+\}/g, '{}')}`;

const isCompared = (path: string): boolean => !/_mount_path\}/.test(path.replace(sameMount, ''));

/** Reduces a document to the fields of the operations of these names. */
export function reduced(document: ApiDocument, names: ReadonlySet<string>): PublishedApi['operations'] {
  const found: PublishedApi['operations'] = {};
  for (const [path, verbs] of Object.entries(document.paths).filter(([path]) => isCompared(path)))
    for (const [verb, operation] of Object.entries(verbs)) {
      const name = operationName(verb, path);
      if (names.has(name)) found[name] = together(found[name], fieldsOf(document, operation));
    }
  return Object.fromEntries(Object.entries(found).sort());
}

/** Returns the fields of both. */
export const together = (one: PublishedOperation = {}, other: PublishedOperation): PublishedOperation => {
  const parts = (['request', 'query', 'response'] as const).map(
    (part) => [part, { ...one[part], ...other[part] }] as const,
  );
  return Object.fromEntries(parts.filter(([, fields]) => Object.keys(fields).length > 0));
};

function fieldsOf(document: ApiDocument, operation: Operation): PublishedOperation {
  const { parameters = [], requestBody, responses = {} } = operation;
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return {
    request: fieldsIn(document, requestBody?.content),
    query: Object.fromEntries(query.map(({ name, schema }) => [name, typeOf(schema)])),
    response: Object.assign({}, ...successes.map(([, { content }]) => fieldsIn(document, content))),
  };
}

function fieldsIn({ components }: ApiDocument, content: Content = {}): Fields {
  const { schema = {} } = Object.values(content)[0] ?? {};
  const { properties = {} } =
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1)!] as Schema);
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, typeOf(field)]));
}

const typeOf = ({ type = 'any', format }: Schema): string =>
  format === undefined ? type : `${type}/${format}`;
