import { useSearchParams } from 'wouter';
import { dataOf, ifPresent } from '../../../api/client.ts';
import { PageHeader } from '../../../components/page-header.tsx';
import { useApi } from '../../../session/session.ts';
import { AccessNav } from '../access-nav.tsx';
import { JsonObject } from './json-object.tsx';

const example = '{\n  "bound_service_principal_ids": [],\n  "token_policies": []\n}';

/** A role: who may log in through it, and what its tokens may do. */
export function RolePage() {
  const api = useApi();
  const [query] = useSearchParams();
  const [mount, name] = [query.get('mount') ?? '', query.get('role') ?? ''];
  const params = { path: { mount, name } };
  return (
    <>
      <AccessNav />
      <PageHeader title={name}>A role of the auth mount {mount}.</PageHeader>
      <JsonObject
        key={`${mount} ${name}`}
        what="role"
        path={`auth/${mount}/role/${name}`}
        example={example}
        read={async () => {
          const answer = await ifPresent(api.GET('/v1/auth/{mount}/role/{name}', { params }));
          return answer === undefined ? null : dataOf(answer);
        }}
        write={(body) => api.POST('/v1/auth/{mount}/role/{name}', { params, body })}
        remove={() => api.DELETE('/v1/auth/{mount}/role/{name}', { params })}
      />
    </>
  );
}
