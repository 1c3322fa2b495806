export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  JsonPatchStep,
  KubeClient,
  ListEnd,
  ListQuery,
  Patch,
  Selection,
  WatchEvent,
  WatchQuery,
  WriteOptions,
} from "./client/client.ts";
export type {
  FollowDeps,
  Follower,
  FollowerHealth,
  FollowObserver,
  FollowOptions,
} from "./follow/follower.ts";
export type { Sink } from "./follow/sink.ts";
export type { ObjectName, Resource } from "./resource/resource.ts";
