export { type ClientOf, type ClientSetup, clientOf } from "./client-of.ts";
