/** How one cluster authenticates at another; binary parts are base64. */
export interface AuthParams {
  readonly ca?: string;
  readonly signedCRT?: string;
  readonly apiServer?: string;
  readonly proxyURL?: string;
}
