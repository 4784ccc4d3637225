import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { fieldNamesOf } from '../../libs/access/src/paths/path-rules.ts';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema & { description?: string }>;
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** Written by `npm run setup`. */
const file = new URL('../../services/console/src/api/generated/openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const propertiesOf = ({ $ref, properties = {} }: Schema): NonNullable<Schema['properties']> =>
  $ref === undefined ? properties : propertiesOf(components.schemas[$ref.split('/').at(-1)!]!);

test('no body has two names for a field that rules about parameters do not know', () => {
  const found = Object.entries(paths).flatMap(([path, operations]) =>
    Object.values(operations).flatMap(({ requestBody }) => {
      const [content] = Object.values(requestBody?.content ?? {});
      const fields = content === undefined ? {} : propertiesOf(content.schema);
      const isOther = (name: string) =>
        /nother name of|older name/i.test(fields[name]?.description ?? '') || `token_${name}` in fields;
      return Object.keys(fields)
        .filter(isOther)
        .map((name) => [path.replace('/v1/', '').replace(/\{\w+\}/g, 'x'), name]);
    }),
  );
  expect(found.length).toBeGreaterThan(10);
  const isKnown = ([path, name]: string[]) => fieldNamesOf(path!).some(([, other]) => other === name);
  expect(found.filter((field) => !isKnown(field))).toEqual([]);
});
