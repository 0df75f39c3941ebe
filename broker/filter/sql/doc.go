// Package sql compiles SQL92 expressions over message properties and evaluates them over a
// stored record's properties, with the grammar and the verdicts of RocketMQ 5.5.0.
//
// The grammar is that of rocketmq-filter, a selector of JMS without arithmetic and LIKE:
//
//	or         = and {OR and}
//	and        = equality {AND equality}
//	equality   = comparison {("=" | "<>") comparison | IS [NOT] NULL}
//	comparison = unary {(">" | ">=" | "<" | "<=") unary
//	           | [NOT] (CONTAINS | STARTSWITH | ENDSWITH) text
//	           | [NOT] BETWEEN unary AND unary
//	           | [NOT] IN "(" text {"," text} ")"}
//	unary      = ("+" | "-" | NOT) unary | primary
//	primary    = text | integer | decimal | TRUE | FALSE | NULL | name | "(" or ")"
//
// Keywords are of any case, names are not. What follows a whole expression is not read, as long
// as its first token is one. NOT binds closest: "NOT a = 1" compares NOT a with 1.
//
// Every property is a text. It becomes what it is compared with: an integer of 32 bits, of 64 when
// the literal needs them, a double, a boolean. One that does not read as such makes the whole
// expression Failed, also on one side of an OR that the other would have made true; only what
// stands left of it and decides comes before. Two properties compare by size as doubles. A property
// that is missing is NULL, and logic has three values.
package sql
