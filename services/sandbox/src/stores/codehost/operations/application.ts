import { jsonResponse } from '../../../simulation/http-response.ts';
import { CodehostError, notFound } from '../codehost-error.ts';
import { noContent, type Operation, type OperationContext, type OperationRequest } from './operation.ts';

export const getApplication: Operation = ({ app }) =>
  jsonResponse(200, { id: Number(app.id), slug: 'sandbox', name: 'Sandbox' });

/** Issues a token to an installation of the application. */
const createInstallationAccessToken: Operation = (context, request) => {
  const installation = installationIn(context, request);
  if (context.store.isSuspended) throw new CodehostError(403, 'This installation has been suspended');
  const { token, expiresAt } = context.app.issue(installation);
  return jsonResponse(201, {
    token,
    expires_at: expiresAt,
    permissions: { secrets: 'write', environments: 'write', organization_secrets: 'write', metadata: 'read' },
    repository_selection: 'all',
  });
};

export const accessTokenOperation = {
  name: 'createInstallationAccessToken',
  run: createInstallationAccessToken,
  isForApplication: true,
};

export const suspendInstallation: Operation = (context, request) => suspend(context, request, true);
export const unsuspendInstallation: Operation = (context, request) => suspend(context, request, false);

function suspend(context: OperationContext, request: OperationRequest, suspended: boolean) {
  installationIn(context, request);
  context.store.change({ suspended });
  return noContent;
}

function installationIn({ app }: OperationContext, { params }: OperationRequest): string {
  if (params.installation !== app.installationId) throw notFound();
  return app.installationId;
}
