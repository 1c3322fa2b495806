/** Of its own, so that importing it when needed does not put all of the runtime package into the bundle. */
export { parseYaml, yamlReader } from "@resource-broker/runtime";
