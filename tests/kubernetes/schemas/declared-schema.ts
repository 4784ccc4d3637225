import type { Schema } from './strict-schema.ts';

const scalars: Record<string, Schema> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  Date: { type: 'string' },
  any: {},
  ApiObjectMetadata: { type: 'object' },
};

const property = /@schema \w+#(\S+)\s*\*\/\s*readonly \w+(\?)?: (\{[\s\S]*?^ {4}\}|[^\n]*?);$/gm;

/**
 * Returns the definitions in a file of TypeScript declarations that was generated from custom resource definitions. A
 * comment before each property has its name in the API. What may be a number or a string is a class.
 */
export function declaredSchemas(text: string): Record<string, Schema> {
  const of = (pattern: RegExp, schemaOf: (body: string) => Schema) =>
    [...text.matchAll(pattern)].map(([, name, body]) => [name!, schemaOf(body!)] as const);
  return Object.fromEntries([
    ...of(/^export interface (\w+) \{\n([\s\S]*?)^\}/gm, objectSchema),
    ...of(/^export declare enum (\w+) \{\n([\s\S]*?)^\}/gm, (body) => ({
      enum: [...body.matchAll(/= "([^"]*)"/g)].map(([, value]) => value),
    })),
    ...of(/^export declare class (\w+) (\{\n {4}readonly value: number)/gm, () => ({
      type: ['string', 'number'],
    })),
  ]);
}

function objectSchema(body: string): Schema {
  const found = [...body.matchAll(property)].map(([, name, optional, type]) => ({
    name: name!,
    isRequired: optional === undefined,
    schema: typeSchema(type!),
  }));
  const required = found.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(found.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }), // draft 4, which kubeconform reads, permits no empty list
    additionalProperties: false,
  };
}

function typeSchema(type: string): Schema {
  if (type.endsWith('[]')) return { type: 'array', items: typeSchema(type.slice(0, -2)) };
  const [, values] = /\[key: string\]: (.*);/.exec(type) ?? [];
  if (values !== undefined) return { type: 'object', additionalProperties: typeSchema(values) };
  return scalars[type] ?? { $ref: `#/definitions/${type}` };
}
