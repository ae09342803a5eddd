/* Sums up one or several traces with names: groups of resources that the same stack allocated. All views, pictures and
 * files for other tools are made from a profile, and from nothing else. */
#ifndef FT_PROFILE_PROFILE_H
#define FT_PROFILE_PROFILE_H

#include "profile/account.h"

/* A function at one place in a stack; each distinct frame exists once. Frames are the same if function, object, file,
 * line and `inlined` are; without a function, if object and address are. Missing parts are NULL or 0. */
struct profile_frame {
	const char *function; /* demangled */
	const char *module;   /* the object's path */
	const char *file;
	unsigned line;
	bool inlined;     /* into the next frame of the stack */
	uint64_t address; /* the return address of its first occurrence */
	uint64_t offset;  /* of the call (address - 1), from the address of file offset 0; 0 without an object */
	const char *build_id;
	size_t number; /* index in profile.frames */
};

struct suppressions;

struct profile_process {
	struct account *account; /* its name, times and counts */
	bool is_old;     /* of the older trace that the profile is compared with: it counts only in the groups' `old` */
	uint64_t offset; /* nanoseconds from the beginning of the profile to the process's first call; 0 if unknown */
};

/* One kind of resource, in all processes. */
struct profile_resource {
	const char *type, *desc; /* desc may be "" */
	uint32_t flags;          /* enum resource_flags */
	size_t number;           /* index in profile.resources */
	/* Sums over the processes. `peak` is the sum of each process's peak; with several processes these may have been
	 * at different times. */
	struct tally allocated, live, temporary, peak, picked, others, picked_suppressed;
	struct tally reachable; /* alive, and not lost, as scans say */
	struct figures old;     /* as in struct profile_group */
	/* Blocks that baselines have found from before the traces: all, and those that are still alive. */
	struct tally before, before_live;
	uint64_t releases, unknown_releases, reused, references;
	struct tally lost[LOST_KINDS]; /* alive, and lost, as scans say */
	struct tally not_scanned;      /* alive in processes in which it is unknown which blocks are lost */
	struct tally since_scan;       /* alive in the other processes, and allocated after their last scan */
	size_t scanned;                /* processes in which it is known which blocks are lost */
	const char *unscanned_reason, *unscanned_process; /* of the first process in which it is unknown; NULL: none */
	uint64_t peak_since; /* with one process: when `peak` was, from the beginning of the profile */
};

struct profile_member {
	size_t process; /* index in profile.processes */
	const struct resource_account *resource;
	const struct site *site;
};

struct profile_group {
	const struct profile_resource *resource;
	const char *function; /* the called function: "malloc" */
	/* Innermost first, with the inlined ones; NULL if no stack was taken (has_stack is false) or it is empty. */
	const struct profile_frame *const *frames;
	uint32_t frame_count;
	bool has_stack;
	bool is_before;            /* blocks from before the traces; they have no stack */
	bool is_uncompared;        /* ... and the older trace has no such group: they are not growth */
	bool picked_is_suppressed; /* suppressions match all that was picked (suppressions.h) */
	bool growth_is_suppressed; /* suppressions match all kinds of its live blocks; set if profile.has_old */
	enum stack_end end;
	/* Sums over the members, as in struct site. */
	struct tally allocated, live, temporary, own_peak, at_peak, picked, picked_indirectly;
	struct tally lost[LOST_KINDS]; /* alive, and lost, as scans say */
	struct tally reachable;        /* alive, and not lost, as scans say */
	/* Alive at each process's earlier_since, in all and by class. Blocks that were released later are counted as
	 * reachable or, without a scan, as picked. */
	struct tally earlier, earlier_picked, earlier_possibly, earlier_reachable;
	struct figures old; /* the figures of old processes at their ends, and of others at the mark */
	bool has_old;       /* a member is of an old process, or its process has a mark */
	uint64_t lifetimes, ages;
	uint64_t released;                   /* released blocks, whose lifetimes `lifetimes` adds up */
	uint64_t first_since;                /* time of the first call, from the beginning of the profile */
	uint64_t oldest_since, newest_since; /* when the oldest and the newest live block were allocated, likewise */
	uint64_t newest_id;                  /* id of the newest live block of the last member that has live blocks */
	struct profile_member *members;
	size_t member_count, member_capacity;
	size_t number; /* index in profile.groups */
};

struct profile {
	struct profile_process *processes;
	size_t process_count, process_capacity;
	struct profile_resource **resources;
	size_t resource_count, resource_capacity;
	struct profile_group **groups;
	size_t group_count, group_capacity;
	struct profile_frame **frames;
	size_t frame_count, frame_capacity;
	bool has_old;       /* there is something to compare with: an old process or a mark */
	bool has_times;     /* `since` is in nanoseconds; else in calls */
	int64_t begin_sec;  /* when the first process began, since the Epoch; 0 unknown */
	uint64_t end_since; /* time of the last call of all */
	uint64_t events;
	uint64_t stacks_cut, stacks_lost;        /* calls whose stacks were cut, or lost */
	const struct suppressions *suppressions; /* the applied suppressions, owned by the caller; NULL: none */
	struct intern_pool strings;
	struct hash frame_of, group_of; /* private to profile.c */
	uint64_t seed;
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);
/* Gives the accounts back to the caller. The profile can only be freed after that. */
void profile_give_back(struct profile *profile);

/* Call it after all processes were added: sums up. Groups are in the order in which they came up. */
void profile_end(struct profile *profile);

/* Returns what a group had alive at a time: at the last moment of each process that is not after it (timeline.h). */
struct tally profile_group_at(const struct profile *profile, const struct profile_group *group, uint64_t since);
/* Returns what a resource had alive at a time, in all processes: at the end of the timeline's span with that time. */
struct tally profile_resource_at(const struct profile *profile, const struct profile_resource *resource,
				 uint64_t since);

/* Returns the resource's account in one of the processes; NULL if the process does not have the resource. */
const struct resource_account *profile_resource_account(const struct account *account,
							const struct profile_resource *resource);

/* Whether the frame is in a library that allocates for others (the C library, the C++ library, the dynamic linker). */
bool profile_frame_is_runtime(const struct profile_frame *frame);

/* ---- Filling a profile ---- */

/* Returns the profile's frame that is the same as this one, and adds it if it is new. Copies the strings. */
const struct profile_frame *profile_frame_intern(struct profile *profile, const struct profile_frame *frame);
/* Returns the profile's resource with the name of this one, and adds it if it is new. */
struct profile_resource *profile_resource_of(struct profile *profile, const struct resource_state *which);

/* The key of a group. All strings are interned; the profile owns all frames. */
struct profile_group_key {
	const struct profile_resource *resource;
	const char *function;
	const struct profile_frame *const *frames;
	size_t frame_count;
	bool has_stack;
	enum stack_end end;
};

/* Returns the group with this key, and adds it if it is new. The caller adds the members. */
struct profile_group *profile_group_of(struct profile *profile, const struct profile_group_key *key);

#endif
