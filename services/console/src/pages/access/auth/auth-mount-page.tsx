import { Link, useLocation, useSearchParams } from 'wouter';
import { dataOf, ifPresent } from '../../../api/client.ts';
import { PageHeader } from '../../../components/page-header.tsx';
import { useApi } from '../../../session/session.ts';
import { AccessNav } from '../access-nav.tsx';
import { KeyList, pageSize } from '../key-list.tsx';
import { OpenForm } from '../open-form.tsx';
import { roleHref } from './auth-links.ts';
import { JsonObject } from './json-object.tsx';
import { LoginDiagnosis } from './login-diagnosis.tsx';

const configExample = '{\n  "tenant_id": "",\n  "resource": "https://management.azure.com/"\n}';

/** An auth mount: its configuration, its roles, and a diagnosis of logins. */
export function AuthMountPage() {
  const api = useApi();
  const [, navigate] = useLocation();
  const [query] = useSearchParams();
  const mount = query.get('mount') ?? '';
  const params = { path: { mount } };
  const readRoles = async (after: string) => {
    const page = { list: 'true', after, limit: pageSize } as const;
    const answer = await ifPresent(api.GET('/v1/auth/{mount}/role', { params: { ...params, query: page } }));
    return answer === undefined ? [] : dataOf(answer).keys;
  };
  return (
    <>
      <AccessNav />
      <PageHeader title={mount}>An auth mount.</PageHeader>
      <LoginDiagnosis mount={mount} />
      <h2>Roles</h2>
      <KeyList
        what="roles"
        path={`auth/${mount}/role`}
        read={readRoles}
        row={(role) => <Link href={roleHref(mount, role)}>{role}</Link>}
      />
      <OpenForm
        label="Name of the role"
        help="One that does not exist yet is created when it is saved."
        action="Open"
        onOpen={(role) => navigate(roleHref(mount, role))}
      />
      <h2>Configuration</h2>
      <JsonObject
        key={mount}
        what="configuration"
        path={`auth/${mount}/config`}
        example={configExample}
        read={async () => {
          const answer = await ifPresent(api.GET('/v1/auth/{mount}/config', { params }));
          return answer === undefined ? null : dataOf(answer);
        }}
        write={(body) => api.POST('/v1/auth/{mount}/config', { params, body: body as never })}
      />
    </>
  );
}
