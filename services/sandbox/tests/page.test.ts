import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { type Sandbox, startSandbox } from '../src/sandbox.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

/** A fake DOM element with the members that the script of the page uses. */
class PageElement {
  textContent = '';
  value = '';
  children: PageElement[] = [];
  append(...children: PageElement[]) {
    this.children.push(...children);
  }
  replaceChildren(...children: PageElement[]) {
    this.children = children;
  }
  addEventListener() {
    // the tests do not use the form
  }
  get text(): string {
    return [this.textContent, ...this.children.map(({ text }) => text)].join('\n');
  }
}

/** Runs the script of the page until it has shown everything, and returns the text of an element by its ID. */
async function openPage() {
  const html = await (await fetch(`${sandbox.url}/`)).text();
  const [, script = ''] = /<script nonce="[^"]+">([\s\S]+)<\/script>/.exec(html) ?? [];
  const elements = new Map([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => [id, new PageElement()]));
  const page = createContext({
    document: {
      getElementById: (id: string) => elements.get(id) ?? null,
      createElement: () => new PageElement(),
    },
    fetch: (path: string) => fetch(`${sandbox.url}/${path}`),
    location: { origin: sandbox.url },
    setInterval: () => undefined,
  });
  runInContext(script, page);
  const textOf = (id: string) => elements.get(id)?.text ?? '';
  await eventually(() => /^(Up to date|The sandbox)/.test(textOf('state')));
  expect(textOf('state')).toMatch(/^Up to date/);
  return textOf;
}

test('the page shows the directory, the application with hints of its passwords, the resources and the roles', async () => {
  const { directory, resourceManager, tenantId } = sandbox;
  directory.passwords.add({ displayName: 'theirs', secretText: 'canary-9d21' }, 0);
  const textOf = await openPage();
  expect(textOf('tenant')).toContain(tenantId);
  expect(textOf('identities')).toContain(directory.identities[0]?.oid);
  expect(textOf('application')).toContain(directory.application.clientId);
  expect(textOf('passwords')).toContain('theirs\ncan…');
  expect(textOf('passwords')).not.toContain('canary');
  for (const { id } of resourceManager.resources()) expect(textOf('resources')).toContain(id);
  expect(textOf('role-assignments')).toContain(directory.application.oid);
});
