/** The machine whose metadata endpoint the sandbox is. */
export interface Instance {
  resourceId: string;
  subscriptionId: string;
  resourceGroup: string;
  name: string;
  /** Empty if the machine belongs to no scale set. */
  scaleSetName: string;
  location: string;
  /** Resource ID of what has its identities: the machine itself, or the uniform scale set that it belongs to. */
  identityHolder: string;
}
