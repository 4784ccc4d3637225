/** A JSON Schema, or the subset of it that OpenAPI uses. */
export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  required?: string[];
  enum?: unknown[];
  nullable?: boolean;
  $ref?: string;
  definitions?: Record<string, Schema>;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const openApiRef = '#/components/schemas/';
const ref = '#/definitions/';

/** Returns a schema of OpenAPI 3 as a JSON Schema that permits no field that it does not describe. */
export function strictSchema(schema: Schema): Schema {
  const result = withJsonRefs(schema);
  if (schema.properties !== undefined) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, strictSchema(property)]),
    );
    if (schema.additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields'])
      result.additionalProperties = false;
  }
  if (schema.items !== undefined) result.items = strictSchema(schema.items);
  if (typeof schema.additionalProperties === 'object')
    result.additionalProperties = strictSchema(schema.additionalProperties);
  if (schema.nullable && typeof schema.type === 'string') result.type = [schema.type, 'null'];
  return result;
}

/** The alternatives of a schema restrict fields that it describes elsewhere, so they are not strict themselves. */
function withJsonRefs(schema: Schema): Schema {
  const result = { ...schema };
  if (schema.$ref !== undefined) result.$ref = schema.$ref.replace(openApiRef, ref);
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const alternatives = schema[name];
    if (alternatives !== undefined) result[name] = alternatives.map(withJsonRefs);
  }
  return result;
}

/** Returns a schema with the definitions that it refers to, directly or not. */
export function withDefinitions(schema: Schema, all: Record<string, Schema>): Schema {
  const definitions: Record<string, Schema> = {};
  const add = (part: Schema) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/definitions\/([^"]+)"/g)) {
      if (definitions[name!] !== undefined) continue;
      const definition = all[name!];
      if (definition === undefined) throw new Error(`no definition of ${name}`);
      definitions[name!] = definition;
      add(definition);
    }
  };
  add(schema);
  return { ...schema, definitions };
}
